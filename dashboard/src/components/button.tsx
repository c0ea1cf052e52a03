/** Buttons and links that look like buttons. */

import type { ComponentChildren, JSX } from "preact";
import { Icon, type IconName } from "./icon.tsx";

type Kind = "primary" | "danger" | "plain" | "quiet";

interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "icon" | "type" | "ref"> {
  kind?: Kind;
  icon?: IconName;
  /** Shows that the action runs, and accepts no second click. */
  isBusy?: boolean;
  type?: "button" | "submit";
  children: ComponentChildren;
}

export function Button({ kind = "plain", icon, isBusy, children, type = "button", ...rest }: ButtonProps) {
  return (
    <button type={type} {...rest} class={`button ${kind}`} aria-busy={isBusy} disabled={rest.disabled || isBusy}>
      {isBusy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

/** Only an icon is seen; `label` is its name. */
export function IconButton({ icon, label, ...rest }: { icon: IconName; label: string } & Omit<JSX.IntrinsicElements["button"], "icon" | "label" | "ref">) {
  return (
    <button type="button" class="icon-button" {...rest} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}

export function LinkButton({ href, kind = "plain", icon, children, ...rest }: { href: string; kind?: Kind; icon?: IconName; children: ComponentChildren; download?: string }) {
  return (
    <a class={`button ${kind}`} href={href} {...rest}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}
