/** The focus of a dialog that is drawn only while it is open: whatever closes it, what had the focus before has it again. */
import { useEffect, useState } from "react";
import { isFocusLost } from "./keep-focus.ts";

/** To be called by what is drawn with the dialog, and goes with it. Where something else took the focus meanwhile, it stays there. */
export function useFocusBack(): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (isFocusLost() && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    },
    [opener],
  );
}
