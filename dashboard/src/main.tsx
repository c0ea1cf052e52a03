import { effect } from "@preact/signals";
import { render } from "preact";
import { App } from "./app/app.tsx";
import { keepSession, startSession } from "./app/session.ts";
import { applyTheme } from "./app/theme.ts";
import { language, messagesLoaded } from "./messages/language.ts";

applyTheme();
effect(() => {
  document.documentElement.lang = language.value;
});
keepSession();
void startSession();
await messagesLoaded();
render(<App />, document.getElementById("app")!);
