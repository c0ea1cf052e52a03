/** Menus, footers and other blocks that repeat on a site's pages: asked for when somebody wants to know. */

import { useState } from "preact/hooks";
import { api } from "../../app/session.ts";
import { Problem } from "../../components/fields.tsx";
import { Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { documents } from "./messages.ts";

export function LeftOut({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="card left-out" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{documents().leftOut}</summary>
      {isOpen && <Blocks id={id} />}
    </details>
  );
}

function Blocks({ id }: { id: string }) {
  const { data, error } = useResource((signal) => api.get("/api/documents/{id}/left-out", { path: { id }, signal }), [id]);
  if (error !== undefined) return <Problem error={error} />;
  if (!data) return <Skeleton lines={2} />;
  if (!data.items.length) return <p>{documents().nothingLeftOut}</p>;
  return (
    <>
      <p class="hint">{documents().leftOutText}</p>
      {data.items.map(({ text, isCut }, i) => <pre key={i} dir="auto">{text.trim()}{isCut && " …"}</pre>)}
    </>
  );
}
