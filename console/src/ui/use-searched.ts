/** A field that chooses one of many: what is typed is looked for on the server, what is chosen is no search. */
import { useDebouncedValue } from "@mantine/hooks";
import { useState, type KeyboardEvent } from "react";
import { asApiError } from "../api/errors.ts";

const lookAfterMs = 200;
const textMax = 100;

/** So many are asked for and listed. */
export const listedMax = 50;

/** Of a field that is searched: Enter takes the first of what fits, and a name without a place for a break goes on in the next line. */
export const choosing = {
  searchable: true,
  selectFirstOptionOnChange: true,
  styles: { option: { overflowWrap: "anywhere" } },
} as const;

/**
 * Enter where no choice is marked: `Select` marks the first when a letter is typed, and not when what fits comes later from the
 * server. It takes the first all the same.
 */
function takeFirst(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key !== "Enter") return;
  const list = document.getElementById(event.currentTarget.getAttribute("aria-controls") ?? "");
  if (!list || list.querySelector("[data-combobox-selected]")) return;
  const first = list.querySelector<HTMLElement>("[role=option]");
  if (!first) return;
  event.preventDefault();
  event.stopPropagation();
  first.click();
}

/** The text to look for, and what a `Select` needs for it. */
export function useSearched(set: (id: string | undefined) => void) {
  const [text, setText] = useState("");
  // The field shows what is chosen: that is no search.
  const [isTyped, setIsTyped] = useState(false);
  const [wanted] = useDebouncedValue(isTyped ? text.trim().slice(0, textMax) : "", lookAfterMs);
  const field = {
    ...choosing,
    clearable: true,
    limit: listedMax,
    searchValue: text,
    onSearchChange: setText,
    // By keys, by pasting, by speaking.
    onInput: () => setIsTyped(true),
    ...(isTyped ? { onKeyDownCapture: takeFirst } : {}),
    onDropdownClose: () => setIsTyped(false),
    onChange: (id: string | null) => {
      setIsTyped(false);
      set(id ?? undefined);
    },
  } as const;
  return { wanted, field };
}

/** What stands in place of choices: that they are on their way, or are not read, is not that there are none. */
export function nothingFound(
  what: string,
  { data, error }: { readonly data: unknown; readonly error: unknown },
): string {
  if (error != null) return `${what}s cannot be read: ${asApiError(error).message}`;
  return data === undefined ? "Loading" : `No such ${what.toLowerCase()}`;
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** What was found with the chosen one among it; until that is read, and where the reader may not see it, its id stands for it. */
export function withChosen(
  found: readonly Choice[],
  value: string | undefined,
  chosen: Choice | undefined,
): Choice[] {
  if (value === undefined || found.some((one) => one.value === value)) return [...found];
  return [chosen?.value === value ? chosen : { value, label: value }, ...found];
}
