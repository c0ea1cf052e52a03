export * from "../en/errors.ts";
