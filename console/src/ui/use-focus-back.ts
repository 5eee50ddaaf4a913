/** Restores the focus after a dialog that is mounted only while open, however it closes. */
import { useEffect, useState } from "react";
import { focusedLast, isFocusLost } from "./keep-focus.ts";

/** Call it in a component that is mounted with the dialog. If another element has the focus at the end, it keeps it. */
export function useFocusBack(): void {
  const [opener] = useState(focusedLast);
  useEffect(
    () => () => {
      if (isFocusLost() && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    },
    [opener],
  );
}
