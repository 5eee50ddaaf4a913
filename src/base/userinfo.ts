/** User and password before the host of an address, `https://user:password@host`: nobody sends them here, and nobody is shown them. */

/** Up to the last `@`: a password may hold what an address may not. */
const userinfo = /(?<=:\/\/)[^\s"]*(?=@)/g;

/** The password is a variable's name already. */
const isNamed = (text: string): boolean => /^[^:]*:?\$\{\w+\}$/.test(text);

/** A message with what stands there masked. */
export const withoutUserinfo = (message: string): string =>
  message.replace(userinfo, (text) => (isNamed(text) ? text : "****"));

/** Said of an address of a variable. */
export const userinfoHint = "; a user and a password before the host would not be sent";

/** Whether an address names a user or a password. */
export function hasUserinfo(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username !== "" || password !== "";
}
