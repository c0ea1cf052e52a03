import type { sources as en } from "../en/sources.ts";

export const sources: typeof en = {
  title: "Quellen",
  caption: "Wissensquellen, neueste zuerst",
  name: "Name",
  type: "Art",
  types: { file: "Datei", url: "Seite", site: "Website" },
  status: "Zustand",
  progress: (name) => `Fortschritt von ${name}`,
  chunks: "Abschnitte",
  size: "Größe",
  updated: "Geändert",
  waitsFor: (reason) => `wartet: ${reason}`,
  empty: "Noch keine Quellen",
  emptyText: "Laden Sie Dateien hoch oder fügen Sie eine Seite oder Website hinzu; sie erscheinen hier sofort.",
  noMatch: "Keine Quelle passt zu diesen Filtern",
};
