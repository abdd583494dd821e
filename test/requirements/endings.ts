/** What the data path promises about endings: who closed, when and how, on the wire and in what is told. */
export const endingsRequirements = {
  'endings.matrix': 'who ends × how × when: each cell is seen on the wire as it was meant, and told once with its cause and ending',
} as const
