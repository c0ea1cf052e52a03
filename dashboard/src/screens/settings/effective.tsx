/** All settings with their values; secrets only whether they are set. */

import type { InstallationView } from "@rag-ingest/client";
import { href, oneOf, readQuery, text } from "../../app/router.ts";
import { DataTable } from "../../components/data-table.tsx";
import { FilterChips, type Filter } from "../../components/filter-chips.tsx";
import { Card } from "../../components/layout.tsx";
import { EmptyState } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { bytes, number } from "../../messages/format.ts";
import { settings } from "./messages.ts";

type Setting = InstallationView["settings"][number];
const ORIGINS = ["set", "default"] as const;

export function EffectiveSettings({ settings: all }: { settings: readonly Setting[] }) {
  const { q, origin } = readQuery({ q: text, origin: oneOf(ORIGINS) });
  const wanted = q?.toLowerCase() ?? "";
  const rows = all.filter(({ name, value, isSet }) =>
    `${name} ${value ?? ""}`.toLowerCase().includes(wanted) && (origin === undefined || isSet === (origin === "set")));
  const set = all.filter(({ isSet }) => isSet).length;
  const filters: Filter[] = [
    { kind: "text", name: "q", label: settings().search, placeholder: settings().placeholder, isSearch: true },
    { kind: "choice", name: "origin", label: settings().origin, options: ORIGINS.map((value) => ({ value, label: settings().origins[value] })) },
  ];
  return (
    <Card title={settings().settings}>
      <p class="hint">{settings().settingsLead} <a href={href("/settings", { origin: "set" })}>{settings().changed(set, number(set), number(all.length))}</a></p>
      <FilterChips filters={filters} values={{ q, origin }} />
      {rows.length === 0 ? <EmptyState icon="filter" title={settings().noMatch} /> : (
        <DataTable caption={settings().caption} rows={rows} keyOf={({ name }) => name}
          columns={[
            { key: "name", title: settings().name, isMain: true, cell: ({ name }) => <code>{name}</code> },
            { key: "value", title: settings().value, cell: (setting) => <Value setting={setting} /> },
            { key: "origin", title: settings().origin, cell: ({ isSet }) => (isSet ? <Badge tone="active">{settings().origins.set}</Badge> : settings().origins.default) },
          ]} />
      )}
    </Card>
  );
}

/** Settings whose whole numbers are bytes. */
const BYTES = /_(BYTES|MEMORY|RESERVE|CACHE)$/;

function Value({ setting: { name, value, isSet, isSecret } }: { setting: Setting }) {
  if (isSecret && isSet) return <Badge icon="keys">{settings().secret}</Badge>;
  if (value === null) return <span class="missing">{settings().notSet}</span>;
  const isSize = BYTES.test(name) && /^\d+$/.test(value);
  return <><code class="setting-value" dir="auto">{value}</code>{isSize && <> <small>{bytes(Number(value))}</small></>}</>;
}
