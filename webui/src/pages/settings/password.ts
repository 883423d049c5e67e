// The rules of a password, as the master and the command line have them.
const RULES: readonly (readonly [RegExp, string])[] = [
  [/.{8}/su, "at least 8 characters"],
  [/\p{Lu}/u, "an upper-case letter"],
  [/\p{Ll}/u, "a lower-case letter"],
  [/\p{Nd}/u, "a digit"],
];

/** What the password lacks; empty when it will do. */
export function passwordProblems(password: string): string[] {
  return RULES.filter(([rule]) => !rule.test(password)).map(([, words]) => words);
}
