import { expect, test } from "vitest";
import { typeExportsOf } from "./type-exports.ts";

const namesOf = (source: string) =>
  Array.from(typeExportsOf(source).matchAll(/__perdureType as (\S+?)[, ]/g), ([, name]) => name);

test.each<[string, string[]]>([
  ["export type A = 1;\nexport interface B<T> extends C<T> {}\nexport declare type D\n  = 1;", ["A", "B", "D"]],
  ["export default interface A {}", ["default"]],
  ["type A = 1;\nexport type { A, B as C } from './d';\nexport {\n  type E,\n  type F as G,\n};", ["A", "C", "E", "G"]],
  ["export { A, type as B } from './c';\nexport type * from './d';\nexport const type = 1;", []],
  ["export const A = schema();\nexport type A = Infer<typeof A>;\nexport type B = A;", ["B"]],
  ["export abstract class A {}\nexport type A = 1;\nexport const enum B {}\nexport type B = 1;", []],
  ["export async function* a() {}\nexport type a = 1;\nconst b = 1;\nexport { b };\nexport type b = 1;", []],
  ["interface A {}\n// export type B\nfoo('export type C = 1');\n  export type D = 1;", []],
])("the types that a file exports are known: %s", (source, names) => {
  expect(namesOf(source)).toEqual(names);
});
