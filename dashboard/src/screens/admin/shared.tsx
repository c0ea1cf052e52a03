/** What the screens of this folder share. */

import type { ComponentChildren } from "preact";
import { may } from "../../app/session.ts";
import { Button } from "../../components/button.tsx";
import { CodeBlock } from "../../components/layout.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { EmptyState } from "../../components/states.tsx";
import { admin } from "./messages.ts";

/** What only admins, or the operator, may see; others learn whom to ask. */
export function Only({ role, children }: { role: "admin" | "operator"; children: ComponentChildren }) {
  if (may(role)) return <>{children}</>;
  return (
    <EmptyState icon="keys" title={admin().needsAdmin}>
      <p>{role === "operator" ? admin().needsOperatorText : admin().needsAdminText}</p>
    </EmptyState>
  );
}

/** A key or secret that is never shown again. Closing it takes the button, not a slip. */
export function SecretDialog({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose} footer={<Button kind="primary" onClick={onClose}>{admin().done}</Button>}>
      <p>{admin().secretOnce}</p>
      <CodeBlock text={secret} label={title} />
    </Dialog>
  );
}

/** The number of a field, null if it is empty. */
export function numberOf(text: string): number | null {
  return text.trim() === "" ? null : Number(text);
}

export function textOf(value: number | null | undefined): string {
  return value === null || value === undefined ? "" : String(value);
}
