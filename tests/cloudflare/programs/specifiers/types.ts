export interface Params {
  readonly name: string;
}

export type Env = { ORDERS: Workflow<Params> };
