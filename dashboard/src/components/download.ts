/** Save an answer of the API as a file: unlike a link, a request carries the operator's application. */

import { api } from "../app/session.ts";

export async function download(path: string, name: string, options: { path?: object; query?: object } = {}): Promise<void> {
  const response = await api.request<Response>("GET", path, options);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
