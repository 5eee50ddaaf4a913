/** Converts spend caps between form and API: text in fields, null for no cap. */

export const windows = ["daily", "weekly", "monthly", "total"] as const;
export type Window = (typeof windows)[number];

export const windowNames: Readonly<Record<Window, string>> = {
  daily: "Today",
  weekly: "This week",
  monthly: "This month",
  total: "Total",
};

export interface SpendCaps extends Readonly<Record<Window, string | null>> {
  readonly hard: boolean;
}

export interface CapFields extends Readonly<Record<Window, string>> {
  readonly hard: boolean;
}

export const noCaps: CapFields = { daily: "", weekly: "", monthly: "", total: "", hard: false };

export const capFieldsOf = (caps: SpendCaps): CapFields => ({
  daily: caps.daily ?? "",
  weekly: caps.weekly ?? "",
  monthly: caps.monthly ?? "",
  total: caps.total ?? "",
  hard: caps.hard,
});

const capOf = (text: string): string | null => (text.trim() === "" ? null : text.trim());

/** The API's caps of these fields; the API keeps the others. */
export const capsOf = ({ hard, ...amounts }: Partial<CapFields>): Partial<SpendCaps> => ({
  ...Object.fromEntries(Object.entries(amounts).map(([window, text]) => [window, capOf(text)])),
  ...(hard !== undefined && { hard }),
});
