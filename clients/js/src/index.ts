export { ApiError, Client, NetworkError, type CallOptions, type ClientOptions, type Items } from "./client.ts";
export { Live, type LiveMessage, type LiveOptions, type LiveState } from "./live.ts";
export type * from "./types.ts";
