// Runs before the first paint: marks that there is JavaScript, and takes the colours that were chosen last time.
document.documentElement.classList.add('js');
try {
  const theme = localStorage.getItem('ganz-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch { /* storage is off: the system's colours */ }
