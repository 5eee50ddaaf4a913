/** Renders again when the reader returns to the window: relative times may be out of date. */
import { focusManager } from "@tanstack/react-query";
import { useEffect, useReducer } from "react";

export function useRerenderOnFocus(): void {
  const [, draw] = useReducer((times: number) => times + 1, 0);
  useEffect(() => focusManager.subscribe((isSeen) => isSeen && draw()), []);
}
