/** Copies a text and shows whether that worked: for keyboard shortcuts, which have no button to show it. */
import { notify } from "./undo.tsx";

/** The legacy way: copies the selection of a temporary field, then restores the focus. */
function copySelected(text: string): boolean {
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.ariaHidden = "true";
  // Must be inside the viewport, or the browser does not copy; `fixed` keeps the layout.
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
 * Puts a text on the clipboard. Browsers offer the clipboard API only with TLS or on localhost. For a gateway on the local network, the
 * legacy way is used.
 * @throws Error where the browser does not let it be copied
 */
export async function putOnClipboard(text: string): Promise<void> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard !== undefined) await clipboard.writeText(text);
  else if (!copySelected(text)) throw new Error("not copied");
}

export function copyText(text: string): void {
  void putOnClipboard(text).then(
    () => notify("Copied."),
    () => notify("The browser did not allow copying."),
  );
}
