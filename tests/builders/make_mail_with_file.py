"""A message with a file, and the same message without it."""

MAIL = (
    b"From: a@example.org\r\nTo: b@example.org\r\nSubject: Minutes\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/mixed; boundary="x"\r\n\r\n'
    b"--x\r\nContent-Type: text/plain\r\n\r\nThe minutes are attached.\r\n"
    b"--x\r\nContent-Type: text/plain; name=minutes.txt\r\n"
    b"Content-Disposition: attachment; filename=minutes.txt\r\n\r\nWe met on Monday.\r\n"
    b"--x--\r\n"
)
MAIL_ALONE = MAIL.replace(
    b"Content-Disposition: attachment; filename=minutes.txt", b"X: y"
).replace(b"; name=minutes.txt", b"")
