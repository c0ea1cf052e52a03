/** Where nobody is signed in. */

import { useState } from "preact/hooks";
import { Form, TextField } from "../components/fields.tsx";
import { Mark } from "../components/icon.tsx";
import { ErrorCard, failureOf } from "../components/states.tsx";
import { shell } from "../messages/shell.ts";
import { loadSession, session, signIn } from "./session.ts";

/** A used link is not used again. */
function isLink(error: unknown): boolean {
  return failureOf(error).code === "link_used";
}

export function SignIn() {
  const [key, setKey] = useState("");
  const now = session.value;
  const submit = () => {
    // What the form says now is newer than why an earlier way did not work.
    session.value = { state: "signedOut" };
    return signIn({ key: key.trim() });
  };
  if (now.state !== "signedOut") return null;
  return (
    <main class="sign-in">
      <h1><Mark />{shell().product}</h1>
      <p class="lead">{now.wasSignedIn ? shell().sessionEnded : shell().signInLead}</p>
      {now.error !== undefined && <ErrorCard error={now.error} {...(!isLink(now.error) && { onRetry: loadSession })} />}
      <Form submit={shell().signIn} onSubmit={submit} fields={["key"]}>
        {() => (
          // Not "password": browsers would offer to store it.
          <TextField label={shell().key} hint={shell().keyHint} value={key} onValue={setKey} type="text" class="secret" autocomplete="off"
            spellcheck={false} dir="ltr" autofocus />
        )}
      </Form>
      <p class="hint">{shell().serveHint(<code>ingest serve</code>)}</p>
    </main>
  );
}
