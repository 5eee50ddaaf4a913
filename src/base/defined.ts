/** What is undefined left out: a field that was not given is not sent, and leaves what there is. */

/** An object without its undefined members. */
export const defined = <Members extends object>(members: Members): Partial<Members> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Partial<Members>;
