/** Loaded together: who opens one of them mostly goes on to the others. */

export { ApplicationView } from "./application.tsx";
export { Applications } from "./applications.tsx";
export { Collections, CollectionView } from "./collections.tsx";
export { Endpoint } from "./endpoint.tsx";
export { JobTypes } from "./job-types.tsx";
export { Schedules } from "./schedules.tsx";
export { Webhooks } from "./webhooks.tsx";
