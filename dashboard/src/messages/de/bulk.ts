import type { bulk as en } from "../en/bulk.ts";
import { plural } from "../language.ts";

type Noun = "sources" | "jobs";
const nouns: Record<Noun, { one: string; other: string }> = {
  sources: { one: "Quelle", other: "Quellen" },
  jobs: { one: "Auftrag", other: "Aufträge" },
};
const counted = (of: Noun, n: number, shown: string) => `${shown} ${plural("de", n, nouns[of])}`;

export const bulk: typeof en = {
  choose: (of) => `Alle ${nouns[of].other} dieses Filters ändern …`,
  chooseSelected: (of, n, shown) => `${counted(of, n, shown)} ändern …`,
  label: "Sammelaktion",
  clearSelection: "Auswahl aufheben",
  actions: {
    delete: "Löschen",
    cancel: "Verarbeitung abbrechen",
    retry: "Wiederholen",
    fetch_again: "Neu abrufen",
    set_metadata: "Metadaten setzen",
    add_to_collection: "In eine Sammlung aufnehmen",
    remove_from_collection: "Aus einer Sammlung nehmen",
    set_chunking: "Abschnitte einstellen",
    set_schedule: "Zeitplan setzen",
  },
  title: (action, of) => `${bulk.actions[action]!}: ${nouns[of].other}`,
  confirm: (action, of, n, shown) => `${bulk.actions[action]!}: ${counted(of, n, shown)}`,
  counting: "Wird gezählt …",
  eligible: (of, n, shown) => plural("de", n, {
    one: `${counted(of, n, shown)} wird geändert.`,
    other: `${counted(of, n, shown)} werden geändert.`,
  }),
  none: "Es würde nichts geändert.",
  stays: (n, shown, why) => plural("de", n, { one: `${shown} bleibt, wie sie ist: ${why}.`, other: `${shown} bleiben, wie sie sind: ${why}.` }),
  reasons: {
    not_cancellable: "nichts ist offen",
    not_retryable: "nichts ist fehlgeschlagen, was wiederholt werden könnte",
    not_rescrapable: "Dateien haben keine Adresse",
    not_ended: "noch nicht beendet",
    superseded: "ein neuerer Lauf hat es ersetzt",
    unchanged: "schon so",
    too_large: "die Metadaten würden zu groß",
    no_longer_matches: "nicht mehr im Filter",
    not_found: "die Sammlung gibt es nicht mehr",
  },
  onlyNow: "Nur was jetzt zum Filter gehört, wird geändert. Es läuft im Hintergrund und kann angehalten werden.",
  undo: "Gelöschte Quellen verschwinden sofort aus Listen und Suche und lassen sich nicht wiederherstellen.",
  metadata: "Metadaten",
  metadataHint: "Je Zeile: schlüssel=wert setzt, schlüssel= entfernt. Andere Schlüssel bleiben.",
  metadataWrong: (line) => `„${line}“ ist nicht schlüssel=wert`,
  collection: "Sammlung",
  noCollections: "Es gibt noch keine Sammlungen.",
  size: "Token je Abschnitt",
  overlap: "Gemeinsame Token von Nachbarn",
  by: "Ein Abschnitt endet an",
  inherited: "wie die Anwendung",
  ends: { heading: "Überschriften", page: "Seiten", row: "Zeilen", size: "nur seiner Größe" },
  cron: "Cron-Ausdruck",
  cronHint: "Minute, Stunde, Tag, Monat, Wochentag; leer: jede Nacht mit allen anderen.",
  timezone: "Zeitzone",
  started: (shown) => `Begonnen für ${shown}.`,
  running: (action) => `${bulk.actions[action] ?? action}: läuft`,
  stop: "Anhalten",
  done: (n, shown) => plural("de", n, { one: `${shown} geändert.`, other: `${shown} geändert.` }),
  stopped: "Angehalten. Was getan ist, bleibt.",
  failed: "Fehlgeschlagen.",
  details: "Einzelheiten",
};
