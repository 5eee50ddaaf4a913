/** A search text that is kept in the URL with every keystroke. */
import { TextInput } from "@mantine/core";
import { useState } from "react";

interface SearchFieldProps {
  readonly label: string;
  readonly width: number;
  /** The text of the URL. */
  readonly text: string | undefined;
  readonly set: (text: string | undefined) => void;
}

/** Shows what is typed at once: the URL follows a moment later, and a field that waits for it moves the caret to its end. */
export function SearchField({ label, width, text = "", set }: SearchFieldProps) {
  const [{ shown, seen, sent }, setState] = useState({
    shown: text,
    seen: text,
    /** Typed texts that the URL does not have yet, in order. */
    sent: [] as readonly string[],
  });
  if (text !== seen) {
    const at = sent.indexOf(text);
    // Another text was not typed here: it comes with Back, a link or a button.
    setState(
      at === -1
        ? { shown: text, seen: text, sent: [] }
        : { shown, seen: text, sent: sent.slice(at + 1) },
    );
  }
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      w={width}
      value={shown}
      onChange={({ currentTarget: { value } }) => {
        setState({ shown: value, seen, sent: [...sent, value] });
        set(value || undefined);
      }}
    />
  );
}
