/** Copies a text, and says whether it did: for keys, which have no button that could. */
import { say } from "./undo.tsx";

/** The way of before: what is selected in a field is copied. The field that had the focus has it afterwards. */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.ariaHidden = "true";
  // In the sight of the browser, or it does not copy; nothing moves for it.
  Object.assign(field.style, { position: "fixed", top: "0", opacity: "0" });
  document.body.append(field);
  field.select();
  // oxlint-disable-next-line typescript/no-deprecated -- without TLS there is no other one
  const isCopied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  return isCopied;
}

/**
 * Puts a text on the clipboard. Only with TLS, or on this very machine, a browser has an object for it: a gateway at an address of the local
 * network is copied from in the way of before.
 * @throws Error where the browser does not let it be copied
 */
export async function putOnClipboard(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard !== undefined) await clipboard.writeText(text);
  else if (!copySelected(text)) throw new Error("not copied");
}

export function copyText(text: string): void {
  void putOnClipboard(text).then(
    () => say("Copied."),
    () => say("The browser did not let it be copied."),
  );
}
