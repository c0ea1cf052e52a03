/** What the application's work is doing, what holds it up, and what was done. */

import type { OverviewView } from "@rag-ingest/client";
import { href } from "../../app/router.ts";
import { api, may, me } from "../../app/session.ts";
import { LinkButton } from "../../components/button.tsx";
import { Problem } from "../../components/fields.tsx";
import { Card, ScreenFrame, Tile } from "../../components/layout.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { useResource } from "../../live/resource.ts";
import { boundedCount, duration } from "../../messages/format.ts";
import { titles } from "../../messages/titles.ts";
import { waitOf } from "../jobs/words.ts";
import { Failures, Reasons } from "./breakdowns.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { overview } from "./messages.ts";
import { isNew, noticesOf } from "./notices.ts";
import { Notices, PauseButton } from "./notice-list.tsx";
import { Throughput } from "./throughput.tsx";
import { Use } from "./use.tsx";
import { Workers } from "./workers.tsx";

/** With the chart and the workers below: two requests in three seconds at most. */
const EVERY = 2_500;

export function Overview() {
  return me().collectionIds === null ? <WholeApplication /> : <Limited />;
}

function WholeApplication() {
  const { data, error, refresh } = useResource((signal) => api.get("/api/overview", { signal }), [], { every: EVERY });
  return (
    <ScreenFrame title={titles().overview} actions={data && may("operator") && <PauseButton overview={data} onDone={refresh} />}>
      {error !== undefined && (data === undefined
        ? <ErrorCard error={error} onRetry={refresh} />
        : <div><p class="hint">{overview().stale}</p><Problem error={error} /></div>)}
      {data === undefined ? error === undefined && <Skeleton lines={8} /> : <Content overview={data} onDone={refresh} />}
    </ScreenFrame>
  );
}

function Content({ overview: shown, onDone }: { overview: OverviewView; onDone: () => void }) {
  return (
    <>
      <Notices notices={noticesOf(shown)} onDone={onDone} />
      {isNew(shown) ? <FirstSteps /> : (
        <>
          <Tiles overview={shown} />
          <Throughput />
        </>
      )}
      <div class="columns">
        <div>
          {!isNew(shown) && <Card title={overview().failures}><Failures failures={shown.failures} /></Card>}
          <Card title={overview().workers}><Workers /></Card>
        </div>
        <div>
          {!isNew(shown) && <Card title={overview().reasons}><Reasons waiting={shown.waiting} /></Card>}
          <Card title={overview().usage}><Use usage={shown.usage} /></Card>
        </div>
      </div>
    </>
  );
}

function Tiles({ overview: { ready, running, waiting, failed, reviewNeeded, oldestReadySeconds } }: { overview: OverviewView }) {
  const sum = waiting.reduce((all, { count }) => all + count, 0);
  const first = waiting[0];
  const isTooOld = oldestReadySeconds !== null && oldestReadySeconds > 600;
  return (
    <div class="tiles">
      <Tile label={overview().ready} value={boundedCount(ready.count, ready.isMore)} href={href("/jobs", { status: "pending" })}
        note={oldestReadySeconds !== null && overview().oldest(duration(oldestReadySeconds * 1000))} {...(isTooOld && { tone: "warning" })} />
      <Tile label={overview().running} value={boundedCount(running.count, running.isMore)} href={href("/jobs", { status: "processing" })} />
      <Tile label={overview().waiting} value={boundedCount(sum, waiting.some(({ isMore }) => isMore))} href={href("/jobs", { status: "pending" })}
        note={first && overview().waitingFor(waitOf(first.reason))} />
      <Tile label={overview().failed} value={boundedCount(failed.count, failed.isMore)} href={href("/jobs", { status: "failed" })} {...(failed.count > 0 && { tone: "bad" })} />
      <Tile label={overview().reviews} value={boundedCount(reviewNeeded.count, reviewNeeded.isMore)} href={href("/reviews")}
        note={reviewNeeded.count > 0 && overview().reviewsNote} {...(reviewNeeded.count > 0 && { tone: "warning" })} />
    </div>
  );
}

/** A key that is limited to collections may not ask about the application. */
function Limited() {
  return (
    <ScreenFrame title={titles().overview}>
      <EmptyState icon="collections" title={overview().limited}>
        <p>{overview().limitedText}</p>
        <LinkButton href={href("/sources")}>{overview().toSources}</LinkButton>
      </EmptyState>
    </ScreenFrame>
  );
}
