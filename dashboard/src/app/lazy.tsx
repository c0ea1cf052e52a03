/** Screens are loaded when they are opened first, so that the page starts with what it needs. */

import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ErrorCard, Skeleton } from "../components/states.tsx";

/** `lazy(async () => (await import("./source-list.tsx")).SourceList)` */
export function lazy<P extends object>(load: () => Promise<FunctionComponent<P>>): FunctionComponent<NoInfer<P>> {
  let loaded: FunctionComponent<P> | undefined;
  return function Lazy(props: P) {
    const [Component, setComponent] = useState(() => loaded);
    const [error, setError] = useState<unknown>();
    useEffect(() => {
      // Not `loaded`: that may have come for another screen since this one was drawn.
      if (Component) return;
      load().then(
        (component) => setComponent(() => (loaded = component)),
        // The service was upgraded, and has other files now; or it is away.
        setError,
      );
    }, []);
    if (error !== undefined) return <ErrorCard error={{ code: "page_outdated" }} onRetry={() => location.reload()} />;
    return Component ? <Component {...props} /> : <Skeleton />;
  };
}
