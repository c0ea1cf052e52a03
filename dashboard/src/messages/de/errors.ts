import type { ErrorText } from "../errors.ts";

export const errors: Record<string, ErrorText> = {
  unknown: { means: "Etwas ist schiefgegangen.", advice: "Die Meldung darunter sagt mehr." },
};
