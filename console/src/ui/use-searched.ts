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
 * Enter takes the choice that is marked, else the first. `Select` marks none when what fits comes later from the server; and who types
 * at once has the mark on a choice that it forgets when its list is open.
 */
function takeMarked(event: KeyboardEvent<HTMLInputElement>): void {
  // While a word is composed, Enter is the input method's.
  if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
  const list = document.getElementById(event.currentTarget.getAttribute("aria-controls") ?? "");
  const choice =
    list?.querySelector<HTMLElement>("[data-combobox-selected]") ??
    list?.querySelector<HTMLElement>("[role=option]");
  if (!choice) return;
  event.preventDefault();
  event.stopPropagation();
  choice.click();
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
    ...(isTyped ? { onKeyDownCapture: takeMarked } : {}),
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
