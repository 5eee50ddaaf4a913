/**
 * Notifications for the keyboard: F8 moves the focus to the newest. One that has the focus stays open, Esc closes it, and the focus
 * then returns to where it was.
 */
import { notifications, type NotificationData } from "@mantine/notifications";

const noticeClass = "mantine-Notification-root";
const noticeOf = (element: Element | null) => element?.closest(`.${noticeClass}`) ?? null;

/** Notifications so far. The newest comes first: only five show at a time, and an Undo must not wait for unclosed errors. */
let count = 0;

/** The element that had the focus before a notification had it. */
let opener: Element | null = null;

function giveFocusBack(): void {
  const isUsable = opener instanceof HTMLElement && opener.isConnected;
  const target = isUsable ? (opener as HTMLElement) : document.querySelector("h1");
  target?.focus({ preventScroll: true });
}

/** Shows a notification; returns its id. */
export function showNotice(data: NotificationData): string {
  let hasFocus = false;
  count += 1;
  const id = notifications.show({
    ...data,
    priority: count,
    closeButtonProps: { "aria-label": "Close" },
    onFocusCapture({ relatedTarget }) {
      if (noticeOf(relatedTarget) === null) opener = relatedTarget;
      if (hasFocus) return;
      hasFocus = true;
      notifications.update({ id, message: data.message, autoClose: false });
    },
    onBlurCapture({ currentTarget, relatedTarget }) {
      if (currentTarget.contains(relatedTarget)) return;
      hasFocus = false;
      notifications.update({ ...data, id });
    },
    onKeyDown(event) {
      if (event.key !== "Escape") return;
      // It closes this, and nothing of the page.
      event.stopPropagation();
      notifications.hide(id);
    },
    onClose() {
      if (hasFocus) giveFocusBack();
    },
  });
  return id;
}

/** Moves the focus to the first button of the newest notification; false if there is none. */
export function focusNotice(): boolean {
  const button = document.querySelector<HTMLElement>(`.${noticeClass} button`);
  button?.focus();
  return button !== null;
}
