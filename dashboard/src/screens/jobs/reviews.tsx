/** Everything that waits for a person, answered by keyboard too. */

import type { Job } from "@rag-ingest/client";
import { useEffect, useRef } from "preact/hooks";
import { api, may } from "../../app/session.ts";
import { ScreenFrame } from "../../components/layout.tsx";
import { FreshRows, Pager } from "../../components/pager.tsx";
import { EmptyState, ErrorCard, Skeleton } from "../../components/states.tsx";
import { useList } from "../../live/list.ts";
import { jobs } from "./messages.ts";
import { Review } from "./review-of.tsx";

export function Reviews() {
  const list = useList({
    load: (cursor, signal) => api.get("/api/jobs", { query: { status: "review_needed", cursor, limit: 20 }, signal }),
    dependencies: [],
    keyOf: (job: Job) => job.id,
    every: 10_000,
  });
  const frame = useRef<HTMLDivElement>(null);
  useKeys(frame);
  return (
    <ScreenFrame title={jobs().reviews} lead={jobs().reviewsLead}>
      {list.error !== undefined && <ErrorCard error={list.error} onRetry={list.refresh} />}
      {list.isLoading && <Skeleton lines={6} />}
      {list.rows && (
        <>
          <FreshRows list={list} />
          {list.rows.length === 0
            ? <EmptyState icon="reviews" title={jobs().noReviews}><p>{jobs().noReviewsText}</p></EmptyState>
            : (
              <div class="stack" ref={frame}>
                {may("editor") && <p class="hint">{jobs().keys}</p>}
                {list.rows.map((job) => <Review key={job.id} job={job} showSource onChange={list.reload} />)}
              </div>
            )}
          <Pager list={list} />
        </>
      )}
    </ScreenFrame>
  );
}

/** `j` and `k` move between the reviews, `a` and `r` press the buttons of the focused one. */
function useKeys(frame: { current: HTMLElement | null }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const reviews = [...(frame.current?.querySelectorAll<HTMLElement>("[data-review]") ?? [])];
      if (!reviews.length || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const at = reviews.findIndex((review) => review.contains(document.activeElement));
      if (event.key === "j" || event.key === "k") {
        const to = at < 0 ? 0 : at + (event.key === "j" ? 1 : -1);
        reviews[Math.max(0, Math.min(reviews.length - 1, to))]!.focus();
        event.preventDefault();
      } else if (at >= 0 && (event.key === "a" || event.key === "r")) {
        reviews[at]!.querySelector<HTMLElement>(event.key === "a" ? "[data-approve]" : "[data-reject]")?.click();
        event.preventDefault();
      }
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
