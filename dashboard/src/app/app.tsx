/** The whole page: the sign-in, or the shell with a screen. */

import { Skeleton } from "../components/states.tsx";
import { Announcer } from "./announcer.tsx";
import { session } from "./session.ts";
import { Shell } from "./shell.tsx";
import { SignIn } from "./sign-in.tsx";

export function App() {
  const now = session.value;
  return (
    <>
      {now.state === "loading" && <div class="sign-in"><Skeleton lines={3} /></div>}
      {now.state === "signedOut" && <SignIn />}
      {now.state === "signedIn" && <Shell />}
      <Announcer />
    </>
  );
}
