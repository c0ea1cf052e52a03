/** `fetch` that tells how much of the request is sent, which the browser's own does not. */

export function uploadFetch(onSent: (bytes: number) => void): typeof fetch {
  return (input, init = {}) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(init.method ?? "GET", input instanceof Request ? input.url : input);
    for (const [name, value] of new Headers(init.headers)) request.setRequestHeader(name, value);
    request.responseType = "blob";
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => {
      const headers = new Headers();
      for (const name of ["Content-Type", "Retry-After"]) headers.set(name, request.getResponseHeader(name) ?? "");
      resolve(new Response(request.response as Blob, { status: request.status, headers }));
    };
    request.onerror = () => reject(new TypeError("no answer"));
    request.onabort = () => reject(new DOMException("aborted", "AbortError"));
    init.signal?.addEventListener("abort", () => request.abort());
    request.send(init.body as XMLHttpRequestBodyInit);
  });
}
