/** The menu, in order. An entry shows to readers who may use its page; those with `bar` also show in the phone's bottom bar. */

interface Entry {
  readonly to: string;
  readonly label: string;
  /** The right that opens the page; `all`: only if it covers more than the reader's own objects. */
  readonly action: string;
  readonly all?: true;
  readonly bar?: true;
}

export const entries = [
  { to: "/start", label: "Start", action: "key.read" },
  { to: "/overview", label: "Overview", action: "usage.read", bar: true },
  { to: "/requests", label: "Requests", action: "request.read", bar: true },
  { to: "/playground", label: "Playground", action: "key.reveal" },
  { to: "/tasks", label: "Tasks", action: "task.read" },
  { to: "/keys", label: "Keys", action: "key.read", bar: true },
  { to: "/money", label: "Money", action: "balance.read" },
  { to: "/models", label: "Models", action: "model.read" },
  { to: "/providers", label: "Providers", action: "provider.read" },
  { to: "/settings", label: "Settings", action: "workspace.change", all: true },
] as const satisfies readonly Entry[];

/** The letter that opens a page after `g`; letters of future pages are reserved. */
const letters: Readonly<Record<string, string>> = {
  "/start": "s",
  "/overview": "o",
  "/requests": "r",
  "/playground": "p",
  "/tasks": "t",
  "/keys": "k",
  "/models": "m",
  "/providers": "v",
  "/money": "y",
  "/settings": ",",
};

export const letterOf = (to: string): string => letters[to] ?? "";

/** The page of `/` once there was a call: the one after Start. */
export const landing = entries[1].to;
