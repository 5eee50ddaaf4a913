/** The period's numbers with their changes; each links to its calls. */
import { Skeleton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../../api/client.ts";
import { exactUsd, parseUsd, readUsd } from "../../base/money.ts";
import { readChange, readCount, readDuration, readShare } from "../../base/numbers.ts";
import classes from "./overview.module.css";

export type Total = Schemas["Usage"]["data"][number];

interface Tile {
  readonly title: string;
  readonly value: string;
  /** The exact value, if `value` is shortened. */
  readonly exact?: string;
  readonly change?: string;
  /** The earlier share: a relative change of a share would read as percentage points. */
  readonly was?: string;
  /** The line below, in place of a comparison. */
  readonly more?: string;
  readonly status?: string;
}

const big = (count: number): bigint => BigInt(Math.round(count));

const took = (times: Total["duration"]): Pick<Tile, "value" | "more"> =>
  times == null
    ? { value: "-" }
    : { value: readDuration(times.p50), more: `p95: ${readDuration(times.p95)}` };

/** `before` is undefined if nothing is compared. */
function tilesOf(now: Total, before: Total | undefined): Tile[] {
  const change = (size: (of: Total) => bigint): { change?: string } =>
    before === undefined ? {} : { change: readChange(size(now), size(before)) };
  const cost = parseUsd(now.cost);
  return [
    {
      title: "Spend (USD)",
      value: readUsd(cost),
      exact: `${exactUsd(cost)} USD`,
      ...change((of) => parseUsd(of.cost)),
    },
    {
      title: "Requests",
      value: readCount(now.requests),
      exact: String(now.requests),
      ...change((of) => big(of.requests)),
    },
    {
      title: "Errors",
      value: readShare(big(now.errors), big(now.requests)),
      exact: `${now.errors} of ${now.requests}`,
      ...(before !== undefined && {
        was: readShare(big(before.errors), big(before.requests)),
      }),
      status: "failed,expired",
    },
    { title: "Duration p50", ...took(now.duration) },
    { title: "First token p50", ...took(now.first_token) },
    {
      title: "From the cache",
      value: readShare(big(now.cache_read_tokens), big(now.input_tokens)),
      exact: `${now.cache_read_tokens} of ${now.input_tokens} input tokens`,
      ...(before !== undefined && {
        was: readShare(big(before.cache_read_tokens), big(before.input_tokens)),
      }),
    },
  ];
}

/** The totals of a period without calls. */
export const nothing: Total = {
  start: "",
  requests: 0,
  errors: 0,
  client_closed: 0,
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  output_images: 0,
  output_video_seconds: 0,
  output_video_tokens: 0,
  cache_write_1h_tokens: 0,
  audio_input_tokens: 0,
  audio_cache_read_tokens: 0,
  audio_output_tokens: 0,
  image_input_tokens: 0,
  image_output_tokens: 0,
  input_images: 0,
  web_searches: 0,
  web_search_answers: 0,
  image_tool_text_tokens: 0,
  image_tool_image_tokens: 0,
  image_tool_output_tokens: 0,
  file_searches: 0,
  map_searches: 0,
  map_answers: 0,
  attachment_searches: 0,
  code_runs: 0,
  x_posts: 0,
  x_profiles: 0,
  duration: null,
  first_token: null,
  cost: "0",
};

const Frame = ({ children }: { children: ReactNode }) => (
  <div className={classes["tiles"]}>{children}</div>
);

const tileCount = 6;

/** "+12 % against the 7 days before"; a blank keeps the place if nothing is compared. */
function compared(
  { change, was }: { readonly change: string | undefined; readonly was: string | undefined },
  beforeLabel: string,
): string {
  if (was !== undefined && was !== "-") return `${was} in ${beforeLabel}`;
  if (change === undefined || change === "") return "\u00A0";
  return change === "new" ? `nothing in ${beforeLabel}` : `${change} against ${beforeLabel}`;
}

export function Tiles(props: {
  /** The last read failed; the error shows above. */
  isFailed: boolean;
  now: Total | undefined;
  before: Total | undefined;
  beforeLabel: string;
  search: Readonly<Record<string, string | undefined>>;
}) {
  const { isFailed, now, before, beforeLabel, search } = props;
  if (now === undefined) {
    if (isFailed) return null;
    const empty = Array.from({ length: tileCount }, (_, place) => (
      <div key={place} className={classes["tile"]}>
        <Skeleton height={64} />
      </div>
    ));
    return <Frame>{empty}</Frame>;
  }
  return (
    <Frame>
      {tilesOf(now, before).map(({ title, value, exact, change, was, more, status }) => (
        <Link
          key={title}
          className={classes["tile"]}
          to="/requests"
          search={{ ...search, ...(status !== undefined && { status }) }}
          title={exact}
        >
          <span className="muted">{title}</span>
          <span className={classes["value"]}>{value}</span>
          <span className="muted">{more ?? compared({ change, was }, beforeLabel)}</span>
        </Link>
      ))}
    </Frame>
  );
}
