/** Stands in for `pg` inside workerd, where some support of tests loads it and nothing uses it. */
export class Client {
  query(): void {}
  connect(): void {}
}

export class Pool extends Client {}
