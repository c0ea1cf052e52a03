import { announcement } from "../live/announcer.ts";

/** Read aloud by screen readers; announcer.ts decides when. */
export function Announcer() {
  return <div class="visually-hidden" role="status" aria-live="polite">{announcement.value}</div>;
}
