export { errors } from "../de/errors.ts";
