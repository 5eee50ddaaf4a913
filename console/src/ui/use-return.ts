/** Draws anew when the reader comes back to the window: what is shown may be of another minute by then. */
import { focusManager } from "@tanstack/react-query";
import { useEffect, useReducer } from "react";

export function useReturn(): void {
  const [, draw] = useReducer((times: number) => times + 1, 0);
  useEffect(() => focusManager.subscribe((isSeen) => isSeen && draw()), []);
}
