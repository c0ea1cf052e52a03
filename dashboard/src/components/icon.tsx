/** Line icons of 20 units; decoration only, so hidden from screen readers. */

const PATHS = {
  overview: "M3 10.5 10 4l7 6.5M5 9v7h3.5v-4h3v4H15V9",
  sources: "M5 3h7l3 3v11H5zM12 3v3h3M7.5 10h5M7.5 13h5",
  upload: "M10 13V4M6.5 7.5 10 4l3.5 3.5M4 13v3h12v-3",
  crawl: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM3 10h14M10 3c5 5 5 9 0 14M10 3c-5 5-5 9 0 14",
  search: "M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM12.7 12.7 16.5 16.5",
  collections: "M4 6h4l1.5 2H16v8H4zM6 6V4h8v4",
  jobs: "M4 5h2M9 5h7M4 10h2M9 10h7M4 15h2M9 15h7",
  reviews: "M4 4h12v9h-5l-3 3v-3H4zM8 8.5l1.5 1.5L13 7",
  batches: "M3.5 6.5 10 3l6.5 3.5L10 10zM3.5 10 10 13.5 16.5 10M3.5 13.5 10 17l6.5-3.5",
  schedules: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 6.5V10l2.5 2",
  webhooks: "M7 8.5a3 3 0 1 1 4-1l-2.5 5M5.5 9.5a3 3 0 1 0 3 4H14M13 11a3 3 0 1 1-1.5 4.5",
  jobTypes: "M4 6h8M14.5 6H16M4 14h2M8.5 14H16M13 4.5v3M7 12.5v3M4 10h5.5M12 10h4M10.5 8.5v3",
  applications: "M4 4h5v5H4zM11 4h5v5h-5zM4 11h5v5H4zM11 11h5v5h-5z",
  keys: "M12.5 4a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 10l-6 6M6 14l1.5 1.5M4 16l1 1",
  settings: "M10 7.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM10 3v2M10 15v2M3 10h2M15 10h2M5 5l1.5 1.5M13.5 13.5 15 15M5 15l1.5-1.5M13.5 6.5 15 5",
  account: "M10 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 16.5c.5-3 3-4.5 6-4.5s5.5 1.5 6 4.5",
  evaluation: "M4 16V9M8 16V4M12 16v-5M16 16V7",
  check: "M4.5 10.5 8.5 14.5 15.5 6",
  cross: "M5 5l10 10M15 5 5 15",
  minus: "M5 10h10",
  plus: "M10 4.5v11M4.5 10h11",
  warning: "M10 4 17 16H3zM10 8.5v3.5M10 13.8v.4",
  info: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 9v4.5M10 6.5v.3",
  pause: "M7 5v10M13 5v10",
  play: "M7 4.5 15 10l-8 5.5z",
  retry: "M15.5 8A6 6 0 1 0 16 11M16 4.5V8h-3.5",
  trash: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6M8.5 9v4M11.5 9v4",
  copy: "M7 7h9v9H7zM13 7V4H4v9h3",
  download: "M10 4v9M6.5 9.5 10 13l3.5-3.5M4 13v3h12v-3",
  external: "M8 5H4v11h11v-4M11 4h5v5M16 4l-7 7",
  filter: "M3.5 5h13L11.5 11v5l-3-1.5V11z",
  chevronDown: "M5 7.5 10 12.5 15 7.5",
  chevronEnd: "M7.5 5l5 5-5 5",
  chevronStart: "M12.5 5l-5 5 5 5",
  first: "M13.5 5l-5 5 5 5M6 5v10",
  menu: "M3.5 6h13M3.5 10h13M3.5 14h13",
  sun: "M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10 2.5V4M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M4.7 15.3l1-1M14.3 5.7l1-1",
  moon: "M15.5 12.5A6.5 6.5 0 0 1 7.5 4.5a6.5 6.5 0 1 0 8 8z",
  auto: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 3.5v13M12 5v10M14 6.5v7",
  signOut: "M8 4H4v12h4M9 10h8M13.5 6.5 17 10l-3.5 3.5",
  keyboard: "M2.5 5.5h15v9h-15zM5 8.5h.5M8 8.5h.5M11 8.5h.5M14 8.5h.5M6.5 12h7",
  dots: "M5 10h.1M10 10h.1M15 10h.1",
  clock: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 6.5V10l2.5 2",
  file: "M5 3h7l3 3v11H5zM12 3v3h3",
  page: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM3 10h14",
  site: "M8.5 3.5h3v3h-3zM3.5 13.5h3v3h-3zM13.5 13.5h3v3h-3zM10 6.5V10M5 13.5V10h10v3.5",
  thumbUp: "M4 9h2.5v7H4zM6.5 9.5 10 3.5c1.5 0 2 1 1.5 2.5L11 8h5l-1.5 8h-8",
  thumbDown: "M4 11h2.5V4H4zM6.5 10.5l3.5 6c1.5 0 2-1 1.5-2.5L11 12h5l-1.5-8h-8",
} as const;

/** The sign of the product. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M9 9.5h14M9 15h14M9 20.5h6" />
      <circle cx="21.5" cy="21.5" r="3" />
    </svg>
  );
}

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
