/** For an application without sources: what to do first, in three cards. */

import { href } from "../../app/router.ts";
import { may } from "../../app/session.ts";
import { LinkButton } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { EmptyState } from "../../components/states.tsx";
import { overview } from "./messages.ts";

const STEPS = [
  { name: "upload", path: "/upload", icon: "upload" },
  { name: "crawl", path: "/crawl", icon: "crawl" },
  { name: "search", path: "/search", icon: "search" },
] as const;

export function FirstSteps() {
  if (!may("editor")) {
    return <EmptyState icon="sources" title={overview().emptyForViewers}><p>{overview().emptyForViewersText}</p></EmptyState>;
  }
  return (
    <section class="first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">{overview().firstSteps}</h2>
      <p class="lead">{overview().firstStepsText}</p>
      <ul>
        {STEPS.map(({ name, path, icon }, i) => {
          const [title, text, action] = overview().steps[name];
          return (
            <li key={name} class="card">
              <Icon name={icon} />
              <h3>{title}</h3>
              <p>{text}</p>
              <LinkButton kind={i === 0 ? "primary" : "plain"} href={href(path)}>{action}</LinkButton>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
