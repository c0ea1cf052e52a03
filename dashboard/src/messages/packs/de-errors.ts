export * from "../de/errors.ts";
