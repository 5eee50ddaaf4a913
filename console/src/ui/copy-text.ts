/** Copies a text, and says whether it did: for keys, which have no button that could. */
import { say } from "./undo.tsx";

export function copyText(text: string): void {
  void navigator.clipboard.writeText(text).then(
    () => say("Copied."),
    () => say("The browser did not let it be copied."),
  );
}
