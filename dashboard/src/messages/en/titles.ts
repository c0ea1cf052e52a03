/** The names of screens: the navigation needs them before the messages of the screens are loaded. */

export const titles = {
  overview: "Overview",
  sources: "Sources",
  source: "Source",
  upload: "Upload",
  crawl: "Add web pages",
  site: "Site",
  document: "Document",
  search: "Search",
  evaluation: "Evaluation",
  collections: "Collections",
  jobs: "Jobs",
  reviews: "Reviews",
  batches: "Upload history",
  schedules: "Schedules",
  webhooks: "Webhooks",
  jobTypes: "Job types & limits",
  applications: "Applications & keys",
  application: "Application",
  settings: "Settings & health",
};
