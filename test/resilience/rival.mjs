// Claim each data folder that the parent process sends, and report whether it was claimed. Ends with its parent.
const { takeOwnership } = await import('../../packages/redis/dist/server/ownership.js');

process.on('message', async (folder) => {
  const has = await takeOwnership(folder).then(
    () => true,
    () => false,
  );
  process.send({ folder, has });
});
process.on('disconnect', () => process.exit());
process.send('ready');
