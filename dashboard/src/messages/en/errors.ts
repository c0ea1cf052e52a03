import type { ErrorText } from "../errors.ts";

export const errors: Record<string, ErrorText> = {
  unknown: { means: "Something went wrong.", advice: "The message below says more." },
};
