/** What administrators and operators change: loaded together, because they share parts and compress better as one. */

export { ApplicationView } from "./admin/application.tsx";
export { Applications } from "./admin/applications.tsx";
export { Collections, CollectionView } from "./admin/collections.tsx";
export { Endpoint } from "./admin/endpoint.tsx";
export { JobTypes } from "./admin/job-types.tsx";
export { Schedules } from "./admin/schedules.tsx";
export { Webhooks } from "./admin/webhooks.tsx";
export { Settings } from "./settings/settings.tsx";
