/** Downloads of the API: a link, or, for the operator's chosen application, which a link cannot name, a request. */

import { api, chosenApplication } from "../../app/session.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { attempt } from "../../components/toasts.tsx";
import { sources } from "./messages.ts";

interface Props {
  url: () => URL;
  /** Of the file. */
  name: string;
  label: string;
  kind?: "plain" | "quiet";
}

export function DownloadButton({ url, name, label, kind = "plain" }: Props) {
  if (chosenApplication.value === undefined) {
    return <LinkButton href={url().href} icon="download" kind={kind} download={name}>{label}</LinkButton>;
  }
  return <Button icon="download" kind={kind} onClick={() => attempt(() => save(url(), name))}>{label}</Button>;
}

export function CsvButton({ url, name }: { url: () => URL; name: string }) {
  return <DownloadButton url={url} name={name} label={sources().csv} kind="quiet" />;
}

async function save(url: URL, name: string): Promise<void> {
  const path = url.pathname.slice(api.baseUrl.pathname.length - 1) + url.search;
  const response = await api.request<Response>("GET", path);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
