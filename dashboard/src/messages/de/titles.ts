import type { titles as en } from "../en/titles.ts";

export const titles: typeof en = {
  overview: "Überblick",
  sources: "Quellen",
  source: "Quelle",
  upload: "Hochladen",
  crawl: "Webseiten hinzufügen",
  site: "Website",
  document: "Dokument",
  search: "Suche",
  evaluation: "Auswertung",
  collections: "Sammlungen",
  jobs: "Aufträge",
  reviews: "Prüfungen",
  batches: "Upload-Verlauf",
  schedules: "Zeitpläne",
  webhooks: "Webhooks",
  jobTypes: "Auftragsarten & Grenzen",
  applications: "Anwendungen & Schlüssel",
  application: "Anwendung",
  settings: "Einstellungen & Zustand",
};
