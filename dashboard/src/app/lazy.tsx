/** Screens are loaded when they are opened first, so that the page starts with what it needs. */

import type { FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorCard, Skeleton } from "../components/states.tsx";
import { messagesLoaded } from "../messages/language.ts";
import { recoveries } from "./connection.ts";

/** `lazy(async () => (await import("./source-list.tsx")).SourceList)` */
export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<NoInfer<P>> {
  let loaded: FunctionComponent<P> | undefined;
  return function Lazy(props: P) {
    const [Component, setComponent] = useState(() => loaded);
    const [error, setError] = useState<unknown>();
    const askedAt = useRef(0);
    useEffect(() => {
      // Not `loaded`: that may have come for another screen since this one was drawn.
      if (Component) return;
      askedAt.current = recoveries.peek();
      load().then(async (component) => {
        await messagesLoaded();
        return component;
      }).then(
        (component) => setComponent(() => (loaded = component)),
        // The service was upgraded, and has other files now; or it is away.
        setError,
      );
    }, []);
    // The service is back. A browser need not fetch again what has failed, but a new page does.
    const isBack = error !== undefined && recoveries.value !== askedAt.current;
    useEffect(() => {
      if (isBack) location.reload();
    }, [isBack]);
    if (error !== undefined) return <ErrorCard error={{ code: "page_outdated" }} onRetry={() => location.reload()} />;
    return Component ? <Component {...props} /> : <Skeleton />;
  };
}
