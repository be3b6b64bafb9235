import { compileContracts } from '../../sandbox/compile.ts'

/** Compiles the local contracts once, before the test files that all need them. */
export async function setup(): Promise<void> {
  await compileContracts({ onCompile: () => process.stdout.write('Compiling the local contracts, this once …\n') })
}
