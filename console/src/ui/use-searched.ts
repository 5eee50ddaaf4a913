/** A select that searches on the server: only typed text is a search, not the chosen value. */
import { useDebouncedValue } from "@mantine/hooks";
import { useState, type KeyboardEvent } from "react";
import { asApiError } from "../api/errors.ts";

const debounceMs = 200;
const textMax = 100;

/** The number of choices that are requested and listed. */
export const listedMax = 50;

/** Options of a searchable field: Enter takes the first match, and a long name breaks across lines. */
export const searchableSelect = {
  searchable: true,
  selectFirstOptionOnChange: true,
  styles: { option: { overflowWrap: "anywhere" } },
} as const;

/**
 * Enter takes the marked choice, or the first. `Select` marks none if matches arrive later from the server. If the reader types at
 * once, it marks a choice and forgets it when the list opens.
 */
function chooseMarkedOption(event: KeyboardEvent<HTMLInputElement>): void {
  // During composition, the input method handles Enter.
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

/** Returns the search text, and the props for a `Select`. */
export function useSearched(set: (id: string | undefined) => void) {
  const [text, setText] = useState("");
  // The field also shows the chosen value, which is not a search.
  const [isTyped, setIsTyped] = useState(false);
  const [wanted] = useDebouncedValue(isTyped ? text.trim().slice(0, textMax) : "", debounceMs);
  const field = {
    ...searchableSelect,
    clearable: true,
    limit: listedMax,
    searchValue: text,
    onSearchChange: setText,
    // By typing, pasting or dictation.
    onInput: () => setIsTyped(true),
    ...(isTyped ? { onKeyDownCapture: chooseMarkedOption } : {}),
    onDropdownClose: () => setIsTyped(false),
    onChange: (id: string | null) => {
      setIsTyped(false);
      set(id ?? undefined);
    },
  } as const;
  return { wanted, field };
}

/** The text instead of choices: distinguishes loading and errors from no match. */
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

/** Adds the chosen value to the results. Until its name is read, or if the reader may not see it, its id is shown. */
export function withChosen(
  found: readonly Choice[],
  value: string | undefined,
  chosen: Choice | undefined,
): Choice[] {
  if (value === undefined || found.some((one) => one.value === value)) return [...found];
  return [chosen?.value === value ? chosen : { value, label: value }, ...found];
}
