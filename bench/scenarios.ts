/** The table of scenarios. `--scenario` takes their names. */

export type GroupName = "calls" | "latency" | "bodies" | "streams" | "held" | "images" | "tasks";

/** The keys of the calls: one key; 100 keys in 20 workspaces, without caps or each with hard daily and total caps. */
export type Keys = "one" | "many" | "caps";

/** The form of the upstream's answer: whole at once, as a stream at once, or as a stream that is held open. */
export type Answer = "whole" | "stream" | "held";

export interface Scenario {
  readonly name: string;
  readonly group: GroupName;
  readonly title: string;
  readonly keys: Keys;
  readonly endpoint: "chat" | "images" | "tasks";
  /** Callers send chat completions; `converted` sends messages upstream. */
  readonly conversion: "direct" | "converted";
  readonly answer: Answer;
  /** The size of the request's body in kB; absent: a short question. */
  readonly bodyKb?: number;
  readonly connections: number;
  /** True if each call opens its own connection, as behind a proxy without keep-alive. */
  readonly fresh?: true;
}

export interface Group {
  readonly name: GroupName;
  readonly title: string;
}

/** In the order in which they run and are shown. Each group has its own gateways and databases. */
export const groups: readonly Group[] = [
  { name: "calls", title: "Whole answers" },
  { name: "latency", title: "One connection" },
  { name: "bodies", title: "Agent bodies, 128 connections" },
  { name: "streams", title: "Streams of 100 frames at once, 128 connections" },
  { name: "held", title: "Held streams, a frame each quarter of a second" },
  { name: "images", title: "Images, hard caps" },
  { name: "tasks", title: "Video tasks, hard caps" },
];

const base = {
  keys: "one",
  endpoint: "chat",
  conversion: "direct",
  answer: "whole",
  connections: 128,
} as const;

const keysTitles: Record<Keys, string> = {
  one: "one key",
  many: "100 keys in 20 workspaces",
  caps: "100 keys with hard caps",
};

const calls: Scenario[] = (["one", "many", "caps"] as const).flatMap((keys) =>
  [16, 128, 256].map((connections) => ({
    ...base,
    name: `${keys}@${connections}`,
    group: "calls",
    title: `${keysTitles[keys]}, ${connections} connections`,
    keys,
    connections,
  })),
);

const converted: Scenario = {
  ...base,
  name: "converted@128",
  group: "calls",
  title: "one key, chat to messages, 128 connections",
  conversion: "converted",
};

const fresh: Scenario = {
  ...base,
  name: "fresh@128",
  group: "calls",
  title: "one key, a new connection for each call, 128 at a time",
  fresh: true,
};

const single: Scenario[] = (["one", "many", "caps"] as const).flatMap((keys) =>
  (["whole", "stream"] as const).map((answer) => ({
    ...base,
    name: answer === "whole" ? `${keys}@1` : `${keys}-stream@1`,
    group: "latency",
    title: `${keysTitles[keys]}, ${answer === "whole" ? "whole" : "streamed"}`,
    keys,
    answer,
    connections: 1,
  })),
);

const bodies: Scenario[] = [4, 40, 120, 400].flatMap((bodyKb) =>
  (["direct", "converted"] as const).flatMap((conversion) =>
    (["whole", "stream"] as const).map((answer) => ({
      ...base,
      name: `${bodyKb}kb-${conversion}-${answer}`,
      group: "bodies",
      title: `${bodyKb} kB, ${conversion}, ${answer === "whole" ? "whole" : "streamed"}`,
      bodyKb,
      conversion,
      answer,
    })),
  ),
);

const streams: Scenario[] = (["direct", "converted"] as const).map((conversion) => ({
  ...base,
  name: `frames-${conversion}`,
  group: "streams",
  title: `${conversion}, frames a second`,
  conversion,
  answer: "stream",
}));

/** Every scenario. */
export const scenarios: readonly Scenario[] = [
  ...calls,
  converted,
  fresh,
  ...single,
  ...bodies,
  ...streams,
  {
    ...base,
    name: "held",
    group: "held",
    title: "2,000, a short question",
    answer: "held",
    connections: 2_000,
  },
  ...(["direct", "converted"] as const).map((conversion): Scenario => ({
    ...base,
    name: `held-120kb-${conversion}`,
    group: "held",
    title: `500, 120 kB asked, ${conversion}`,
    bodyKb: 120,
    conversion,
    answer: "held",
    connections: 500,
  })),
  {
    ...base,
    name: "images",
    group: "images",
    title: "100 kB pictures, 64 connections",
    keys: "caps",
    endpoint: "images",
    connections: 64,
  },
  {
    ...base,
    name: "tasks",
    group: "tasks",
    title: "submitted, 64 connections",
    keys: "caps",
    endpoint: "tasks",
    connections: 64,
  },
];

/**
 * Returns the scenarios of these names in the table's order, by exact name, group, or the part before an `@`; all if there are no
 * names.
 * @throws Error that names an unknown one
 */
export function chooseScenarios(names: readonly string[]): Scenario[] {
  const fits = (scenario: Scenario, name: string): boolean =>
    scenario.name === name || scenario.group === name || scenario.name.split("@")[0] === name;
  const unknown = names.find((name) => !scenarios.some((one) => fits(one, name)));
  if (unknown !== undefined) throw new Error(`no scenario "${unknown}"; see --list`);
  return scenarios.filter((one) => names.length === 0 || names.some((name) => fits(one, name)));
}
